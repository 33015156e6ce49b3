/* in_lab.h - whether this process is inside of `orb lab`: addresses are made up there and nothing leaves the machine,
 * so pauses between requests may be shorter than the internet must be spared. */
#pragma once

#include <stdbool.h>

/* The lab's folder is named by ORB_LAB, and its router listens there. */
bool in_lab(void);
