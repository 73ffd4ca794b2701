// Declares the C functions of EAL's start and of the log capture, for cgo.

#ifndef INTSINK_EAL_LOG_H
#define INTSINK_EAL_LOG_H

#include <stddef.h>

int go_eal_init(int argc, char **argv);
void go_log_capture(void);
void go_log_release(void);
const char *go_log_text(void);

#endif
