// Checkpoints of a replay from which copies start, for debuggers that go backward.
//
// A replay that holds before an event (RunConfig::stop_event) is asked for a checkpoint. It forks; the child keeps the
// runtime state as memory of its own and waits for requests. For each request it forks a copy, which continues from the
// checkpoint with all threads (checkpoint.h) in an arena that the request passes. The supervisor of that arena feeds it
// the events that follow. The original continues undisturbed. A checkpoint ends when nobody can send it requests any
// more.
#pragma once

namespace reweave::core {

// Called by the baton holder while the replay holds before an event. Returns true in a copy.
bool make_checkpoint();

}  // namespace reweave::core
