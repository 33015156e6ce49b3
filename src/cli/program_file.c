#include "cli/program_file.h"

#include "cli/command.h"

/* "dir/prices.lua" is called prices. */
static struct span name_of(struct span path)
{
    size_t from = path.n;
    while (from > 0 && path.p[from - 1] != '/')
        from--;
    struct span name = span_from(path, from);
    name.n = span_find(name, '.', 0);
    return program_name_is_good(name) ? name : SPAN("program");
}

int program_file_read(const char *what, struct span path, struct buf *file, struct program *out)
{
    struct buf why = {0};
    int code = read_input(what, path.p, file);
    if (code != EXIT_DONE)
        return code;
    status st = ST_OK;
    if (span_starts(buf_span(file), SPAN("orb-program ")))
        st = program_read(buf_span(file), out, &why);
    else if (file->n > PROGRAM_SCRIPT_MAX)
        st = ST_LIMIT;
    else
        *out = (struct program){.name = name_of(path), .script = buf_span(file)};
    if (st == ST_LIMIT)
        code = complain(EXIT_INPUT, "%s: read %s: larger than %u KiB", what, path.p, PROGRAM_SCRIPT_MAX >> 10);
    else if (st != ST_OK)
        code = complain(EXIT_INPUT, "%s: read %s: %s", what, path.p, why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
    return code;
}
