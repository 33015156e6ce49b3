/* self_test.h - tries to break out of the sandbox, in children of this process, and tells how each attempt ended. */
#pragma once

/* Prints "ok NAME how" or "not ok NAME how" a line on standard output. 0: all were ok. */
int self_test_run(void);
