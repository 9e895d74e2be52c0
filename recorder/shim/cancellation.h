// Waits that pthread_cancel may end, as POSIX asks of pthread_cond_wait and sem_wait.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Calls wait(argument) with cancellation of the calling thread enabled, and returns its result. If the thread is
// cancelled, cleanup(cleanup_argument) runs and this does not return. glibc cancels a waiting thread only if its
// cancellation type is asynchronous, which its own waits set for their duration; so does this.
int shim_cancellable_wait(int (*wait)(void*), void* argument, void (*cleanup)(void*), void* cleanup_argument);

#ifdef __cplusplus
}
#endif
