/** The registry of endpoint kinds: one line each. */
import { COUNT } from './count.ts'
import { GENERATE } from './generate.ts'
import type { EndpointKind } from './kind.ts'
import { STORED } from './stored.ts'
import { VIDEO } from './video.ts'

export const KINDS: readonly EndpointKind[] = [GENERATE, COUNT, STORED, VIDEO]
