#include "html_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* not alphasort: the order must not depend on the locale */
}

static void walk(const char *folder, size_t root, html_file_fn *fn, void *arg)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        bool is_there = names[i]->d_name[0] != '.' && stat(path, &st) == 0;
        if (is_there && S_ISDIR(st.st_mode) && names[i]->d_type != DT_LNK)
            walk(path, root, fn, arg);
        else if (is_there && S_ISREG(st.st_mode) && span_ends(span_str(path), SPAN(".html")))
            fn(arg, path, &st, span_str(path + root + 1));
        free(names[i]);
    }
    free(names);
}

void html_files_each(const char *folder, html_file_fn *fn, void *arg)
{
    walk(folder, strlen(folder), fn, arg);
}
