/** Request bodies that were compressed on the way (`Content-Encoding`), taken apart as they arrive. */
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { GatewayError } from '../../core/errors/gateway-error.ts'

type OpenDecoder = () => Transform

/** Past this a window is refused: no client of ours needs 8 MiB of memory for looking back (RFC 8878 §3.1.1.1.2). */
const ZSTD_WINDOW_LOG_MAX = 23
/** `ZSTD_d_windowLogMax` of zstd.h. */
const ZSTD_WINDOW_LOG_PARAMETER = 100

const DECODERS: ReadonlyMap<string, OpenDecoder> = new Map<string, OpenDecoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  ...zstd(),
])

/** What we can read, as RFC 7694 lets a server tell it. */
const READABLE = [...DECODERS.keys()].filter((name) => name !== 'x-gzip').join(', ')

/** Node has it from 22.15 and 23.8 on; the types we build with are older. */
interface ZstdAware {
  readonly createZstdDecompress: (options: { readonly params: Readonly<Record<number, number>> }) => Transform
}

function zstd(): readonly (readonly [string, OpenDecoder])[] {
  if (!knowsZstd(zlib)) return []
  const { createZstdDecompress } = zlib
  const params = { [ZSTD_WINDOW_LOG_PARAMETER]: ZSTD_WINDOW_LOG_MAX }
  return [['zstd', () => createZstdDecompress({ params })]]
}

function knowsZstd(module: object): module is ZstdAware {
  return 'createZstdDecompress' in module
}

/** What makes plain bytes of a body; undefined: they are plain already. Throws 415/40000 for what nobody here can read. */
export function openBodyDecoder(contentEncoding: string | undefined): Transform | undefined {
  if (contentEncoding === undefined) return undefined
  const name = contentEncoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return undefined
  const open = DECODERS.get(name)
  if (open !== undefined) return open()
  const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS_MAX))
  throw new GatewayError(40000, {
    status: 415,
    message: `a request body with Content-Encoding ${shown} cannot be read here: send it plain, or as one of ${READABLE}`,
    headers: { 'accept-encoding': READABLE },
  })
}

const SHOWN_CHARACTERS_MAX = 60
