/* texts.h - the themes, and articles that stand alone; each text_*.c has some of them. */
#pragma once

#include "sample/theme.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SUBJECTS(a) .subjects = a, .subject_count = COUNT_OF(a)
#define ASPECTS(a) .aspects = a, .aspect_count = COUNT_OF(a)

/* text_food.c */
extern const struct theme theme_bread, theme_ricette, theme_citrus;
/* text_sea.c */
extern const struct theme theme_boats, theme_birds, theme_ptaki;
/* text_code.c */
extern const struct theme theme_skein, theme_glossary, theme_radio;
/* text_town.c */
extern const struct theme theme_museum, theme_plantes, theme_biblioteca, theme_freguesia;
/* text_travel.c */
extern const struct theme theme_strecken, theme_eki;
/* text_sky.c */
extern const struct theme theme_nebo, theme_instruments;
/* text_study.c */
extern const struct theme theme_courses, theme_kecheng, theme_gangui, theme_pathyakram, theme_muqarrar;
/* text_small.c */
extern const struct theme theme_tortoises, theme_tickets, theme_storms, theme_locks, theme_hedges;

/* A page written by hand. */
struct article {
    const char *lang; /* that the page says it is in; NULL: says nothing */
    const char *about;
    const char *body; /* a template (theme.h) without theme */
};

enum {
    ARTICLE_ESCAPING,   /* scripts in title and text, as text */
    ARTICLE_HYDRATION,  /* what the dough's hydration is */
    ARTICLE_WRONG_LANG, /* Italian that says it is English */
    ARTICLE_NO_LANG_PT, /* Portuguese that says nothing */
    ARTICLE_NO_LANG_KO, /* Korean that says nothing */
    ARTICLE_WRONG_ZH,   /* Chinese that says it is English */
    ARTICLE_SIGNPOST,   /* several languages on one page */
    ARTICLE_WINTER,     /* German notice */
    ARTICLE_ECLIPSE,    /* dated news */
    ARTICLE_COUNT
};
extern const struct article articles[ARTICLE_COUNT];
