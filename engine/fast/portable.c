//go:build cgo

// C: everything once more, for processors of amd64 without AVX2 and BMI2.

#if defined(__x86_64__) && !defined(FAST_PORTABLE)
#define _POSIX_C_SOURCE 199309L // clock_gettime, in poll.c
#define FAST_PORTABLE 1
#define fast_receive fast_receive_portable
#define fast_match fast_match_portable
#define fast_lookup fast_lookup_portable
#define fast_pass fast_pass_portable
#define fast_poll fast_poll_portable
#define fast_strip fast_strip_portable
#define fast_strip_frame fast_strip_frame_portable
#include "match.c"
#include "pass.c"
#include "poll.c"
#endif
