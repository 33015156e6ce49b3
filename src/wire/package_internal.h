/* package_internal.h - what the files of package.h share. */
#pragma once

#include "wire/columns.h"
#include "wire/package.h"

/* What is signed: the head before its signature. */
#define PACKAGE_SIGNED_BYTES (PACKAGE_HEAD_BYTES - SIGN_BYTES)

#define PACKAGE_NAME_MAX 4096 /* bytes of a small text that repeats */
#define PACKAGE_ETAG_MAX 1024
#define PACKAGE_LINK_BYTES_MAX (4u << 20) /* addresses of all links of a visit; links beyond do not travel */
#define PACKAGE_LINKS_MAX (FACTS_LINKS_MAX + 16)

/* The body of a package: its columns, uncompressed. */
MUST_USE status package_body_read(struct span body, uint32_t visits, package_visit_fn *fn, void *arg);
