/* script_internal.h - what script.c and script_api.c share. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "mobile/script.h"

typedef struct lua_State lua_State; /* as lua.h has it, which not everybody who reads this needs */

struct script {
    lua_State *lua; /* owned */
    struct script_limits limits;
    uint64_t memory;    /* held by Lua now */
    uint64_t steps;     /* of this page */
    bool is_over;       /* steps_max was passed: every further instruction is an error */
    int page_ref;       /* the script's page function, in Lua's registry */
    int seed_ref;       /* math.randomseed, which the script itself does not see */
    const char *name;   /* owned */
    struct buf why;     /* of the last failure */
    struct arena arena; /* texts of this page's answer; bounded by the ceilings of page.h */
    bool is_skipped, has_summary;
    struct buf summary;
    size_t field_count, field_bytes, follow_count;
    struct program_field fields[PROGRAM_FIELDS_MAX];
    struct span follows[PROGRAM_FOLLOW_MAX];
};

/* The functions that a script may call. */
void script_api_open(struct script *s);
/* Scripts cut texts where they like. What is left of a cut character becomes U+FFFD. */
void script_put_repaired(struct buf *out, struct span s);
/* Forgets the answer to the page before. */
void script_api_clear(struct script *s);
/* Pushes p. May raise a Lua error: out of memory. */
void script_push_page(lua_State *lua, const struct program_page *p);
