/* command_report.c - report and results: what runs left behind, for people. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lab/command.h"
#include "lab/play/report.h"
#include "store/file.h"

static int load(const char *dir, struct results *r)
{
    struct buf why = {0};
    status st = results_load(dir, r, &why);
    int code = st == ST_OK ? EXIT_DONE : command_fail(st == ST_IO ? EXIT_IO : EXIT_INPUT, "%s", buf_cstr(&why));
    buf_done(&why);
    return code;
}

static int print(struct buf *text)
{
    return fwrite(text->p, 1, text->n, stdout) == text->n && fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
}

int command_report(int argc, char **argv)
{
    const char *dir = NULL, *to = NULL;
    struct results r;
    struct buf page = {0}, command = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            to = argv[++i];
        else if (!dir && argv[i][0] != '-')
            dir = argv[i];
        else
            return command_fail(EXIT_USAGE, "report DIR [-o FILE]");
    }
    if (!dir)
        return command_fail(EXIT_USAGE, "report DIR [-o FILE]");
    int code = load(dir, &r);
    if (code != EXIT_DONE)
        return code;
    buf_printf(&command, "orb lab report %s", dir);
    lab_report_page(&r, buf_cstr(&command), &page);
    if (!to)
        code = print(&page);
    else if (file_replace(to, buf_span(&page)) != ST_OK)
        code = command_fail(EXIT_IO, "write %s: %s", to, strerror(errno));
    results_done(&r);
    buf_done(&page);
    buf_done(&command);
    return code;
}

int command_results(int argc, char **argv)
{
    struct results r;
    struct buf text = {0};
    if (argc != 2 || argv[1][0] == '-')
        return command_fail(EXIT_USAGE, "results DIR");
    int code = load(argv[1], &r);
    if (code != EXIT_DONE)
        return code;
    lab_report_markdown(&r, &text);
    code = print(&text);
    results_done(&r);
    buf_done(&text);
    return code;
}
