/* diary.h - what placing did, for charts and lists. Inside src/coord only; lock held. */
#pragma once

#include "coord/state.h"

void diary_note_given(struct coord *c); /* a network, for the first time */
void diary_note_probes(struct coord *c, unsigned count);
void diary_note_move(struct coord *c, const struct c_network *n, uint64_t from, uint64_t to, move_kind kind);
const char *move_kind_name(move_kind k); /* "calibrated": for programs */
const char *move_kind_text(move_kind k); /* "the path became long": for people */
void diary_open(struct coord *c);        /* after records_load; what cannot be read is begun anew */
void diary_tick(struct coord *c, mono_ms now);
void diary_save(struct coord *c);
/* Those of an hour or a day; NULL: nothing happened. */
const struct diary_count *diary_hour(const struct diary *d, int64_t hour);
const struct diary_count *diary_day(const struct diary *d, int64_t day);
/* The newest is 0; NULL: there are not so many. */
const struct diary_move *diary_move_at(const struct diary *d, size_t i);
