// Converts between gdb's and Linux's signal numbers.
#pragma once

namespace reweave {

int gdb_signal(int host);
int host_signal(int gdb);

}  // namespace reweave
