/* agent_offer.c - `orb agent offer`: signs a newer orb-agent and has the coordinator offer it to its agents. */
#include <elf.h>
#include <string.h>

#include "cli/admin_call.h"
#include "cli/command.h"
#include "cli/key_file.h"
#include "codec/armor.h"
#include "codec/digest.h"
#include "wire/release.h"

#define WHAT "agent offer"

/* Which machines the file is for, from its ELF header; NULL: it is no program that we know. */
static const char *machine_of(struct span file)
{
    Elf64_Ehdr h;
    if (file.n < sizeof(h))
        return NULL;
    memcpy(&h, file.p, sizeof(h));
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB)
        return NULL;
    switch (h.e_machine) {
    case EM_X86_64:
        return "x86_64-linux-gnu";
    case EM_AARCH64:
        return "aarch64-linux-gnu";
    case EM_RISCV:
        return "riscv64-linux-gnu";
    case EM_PPC64:
        return "ppc64le-linux-gnu";
    default:
        return NULL;
    }
}

static int offer(const struct options *o, struct arena *a, struct span file, const char *machine)
{
    struct buf message = {0}, path = {0}, hex = {0}, raw = {0}, text = {0};
    struct span version = opt_text(o, OPT_RELEASE);
    struct sign_key key;
    const struct json_node *answer;
    int code = key_file_read(WHAT, opt_cstr(o, OPT_KEY), &key);
    if (code == EXIT_DONE) {
        struct digest256 d = digest_blake2b256(file);
        release_message(version, span_str(machine), span_of(d.b, sizeof(d.b)), &message);
        struct signature sig;
        sign_make(&key, buf_span(&message), &sig);
        sign_wipe(&key, sizeof(key));
        hex_put(&hex, span_of(sig.b, sizeof(sig.b)));
        form_text(&text, "version", version);
        form_text(&text, "machine", span_str(machine));
        form_text(&text, "sig", buf_span(&hex));
        buf_printf(&path, "/api/v1/update?%.*s", SPAN_ARG(buf_span(&text)));
        buf_clear(&text);
        code = admin_upload(o, WHAT, buf_cstr(&path), file, a, &raw, &answer);
    }
    if (code == EXIT_DONE) {
        buf_printf(&text, "%.*s for %s is offered to %.0f agents; each checks the signature with its owner's key\n",
                   SPAN_ARG(version), machine, json_member_number(answer, "agents"));
        code = admin_show(o, &text, &raw);
    }
    buf_done(&message);
    buf_done(&path);
    buf_done(&hex);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

int agent_offer(const struct options *o, struct arena *a)
{
    struct buf file = {0};
    if (o->arg_count != 2 || !opt_is_set(o, OPT_KEY) || !opt_is_set(o, OPT_RELEASE))
        return complain(EXIT_USAGE, WHAT ": usage: orb agent offer --release VERSION --key KEY FILE");
    int code = read_input(WHAT, o->args[1].p, &file);
    const char *machine = machine_of(buf_span(&file));
    if (code == EXIT_DONE && !machine)
        code = complain(EXIT_INPUT, WHAT ": read %s: not an orb-agent for a machine that we know", o->args[1].p);
    if (code == EXIT_DONE)
        code = offer(o, a, buf_span(&file), machine);
    buf_done(&file);
    return code;
}
