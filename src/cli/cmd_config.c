#include "cli/command.h"
#include "codec/json.h"

static void put_source(const struct options *o, opt_id id, struct buf *out)
{
    switch (o->v[id].source) {
    case FROM_FLAG:
        buf_puts(out, "command line");
        break;
    case FROM_ENV:
        buf_puts(out, "environment ");
        option_env_name(id, out);
        break;
    case FROM_FILE:
        buf_printf(out, "config file line %u", o->v[id].line);
        break;
    default:
        buf_puts(out, "default");
    }
}

static void put_line(const struct options *o, opt_id id, struct buf *out)
{
    struct buf value = {0};
    option_format(o, id, "\n", &value);
    struct span rest = buf_span(&value), part;
    bool is_first = true;
    while (span_split(&rest, '\n', &part)) {
        size_t start = out->n;
        buf_printf(out, "%s = ", option_table[id].name);
        put_safe(out, part);
        while (out->n - start < 40)
            buf_putc(out, ' ');
        buf_puts(out, is_first ? " # " : " # also: ");
        put_source(o, id, out);
        buf_putc(out, '\n');
        is_first = false;
    }
    if (is_first)
        buf_printf(out, "# %s is not set\n", option_table[id].name);
    buf_done(&value);
}

static void put_json(const struct options *o, opt_id id, struct json *j, struct buf *scratch)
{
    const struct opt_value *v = &o->v[id];
    json_key(j, option_table[id].name);
    json_open(j, '{');
    json_key(j, "value");
    if (option_table[id].type == TYPE_LIST) {
        json_open(j, '[');
        for (size_t i = 0; i < v->list_count; i++)
            json_text(j, v->list[i]);
        json_close(j, ']');
    } else if (!v->is_set)
        json_null(j);
    else if (option_table[id].type == TYPE_FLAG)
        json_bool(j, v->number != 0);
    else if (option_table[id].type == TYPE_TEXT || option_table[id].type == TYPE_CHOICE)
        json_text(j, v->text);
    else
        json_i64(j, v->number);
    buf_clear(scratch);
    put_source(o, id, scratch);
    json_key(j, "from");
    json_text(j, buf_span(scratch));
    json_close(j, '}');
}

int cmd_config(const struct options *o)
{
    struct buf out = {0}, scratch = {0};
    struct json j = {.out = &out};
    if (opt_flag(o, OPT_SAMPLE))
        config_sample(&out);
    else if (opt_flag(o, OPT_JSON)) {
        json_open(&j, '{');
        for (opt_id id = 0; id < OPT_COUNT; id++)
            if (option_table[id].is_setting)
                put_json(o, id, &j, &scratch);
        json_close(&j, '}');
        buf_putc(&out, '\n');
    } else
        for (opt_id id = 0; id < OPT_COUNT; id++)
            if (option_table[id].is_setting)
                put_line(o, id, &out);
    print_buf(&out);
    buf_done(&out);
    buf_done(&scratch);
    return EXIT_DONE;
}
