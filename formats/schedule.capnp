@0xf2a857c6c0259b15;
# A schedule: the explorer's instructions to the runtime. One message in a file. See also docs/recording-format.md.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("reweave::schema");

struct Schedule {
  policy @0 :Text;  # name as on the command line
  seed @1 :UInt64;
  switches @2 :List(Switch);  # <= 2^20, steps strictly rising
  params @3 :List(Param);     # of the policy; <= 2^20
}

struct Switch {
  # At global schedule point `step` the baton goes from one thread to another.
  step @0 :UInt64;
  fromThread @1 :UInt16;
  toThread @2 :UInt16;
}

struct Param {
  name @0 :Text;
  value @1 :Text;
}
