#include "io/in_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool in_lab(void)
{
    char path[256];
    struct stat s;
    const char *folder = getenv("ORB_LAB");
    return folder && snprintf(path, sizeof(path), "%s/router", folder) < (int)sizeof(path) && lstat(path, &s) == 0 &&
           S_ISSOCK(s.st_mode);
}
