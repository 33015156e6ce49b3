/* release.h - what whoever makes releases signs: one version of orb-agent, for one kind of machine. Pure. */
#pragma once

#include "base/buf.h"

/* RELEASE_CONTEXT, version, '\n', machine ("x86_64-linux-gnu"), '\n', and the 32 bytes of the file's BLAKE2b-256. */
#define RELEASE_CONTEXT "orb-agent update 1\n"
void release_message(struct span version, struct span machine, struct span digest, struct buf *out);
