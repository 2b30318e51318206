/**
 * Who can read the reasoning in a call's history: a chain of that issuer keeps the model's train of thought
 * (docs/protocols.md#reasoning-envelope).
 */
import type { Chain } from '../../core/catalogue.ts'
import { ENVELOPE_HEAD_LENGTH, ENVELOPE_START, issuerOfEnvelope } from '../../core/canonical/envelope.ts'
import type { ReservedCall } from '../call.ts'
import { issuerOfChain } from './dialect.ts'

/** Told by a look for the newest envelope in the bytes, so that a call that has none pays next to nothing. */
export function issuerFavour(
  call: Pick<ReservedCall, 'body' | 'past' | 'catalogue'>,
  chains: readonly Chain[],
): ((chain: Chain) => boolean) | undefined {
  if (chains.length < 2) return undefined
  const issuer = newestIssuer(call)
  if (issuer === undefined) return undefined
  return (chain) => issuerOfChain(chain, call.catalogue) === issuer
}

/** As a JSON string begins. An envelope cut by a chunk's end is missed; favour is no promise. */
const NEEDLE = `"${ENVELOPE_START}`

/** Of a long conversation the newest end is looked at. */
const PAST_BYTES_LOOKED_AT = 4 * 1024 * 1024

function newestIssuer({ body, past }: Pick<ReservedCall, 'body' | 'past'>): string | undefined {
  for (let index = body.chunks.length - 1; index >= 0; index -= 1) {
    const issuer = lastIssuer(body.chunks[index])
    if (issuer !== undefined) return issuer
  }
  return past?.kind === 'kept' ? lastIssuer(past.bytes.subarray(-PAST_BYTES_LOOKED_AT)) : undefined
}

function lastIssuer(chunk: Uint8Array | undefined): string | undefined {
  if (chunk === undefined) return undefined
  const json = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const at = json.lastIndexOf(NEEDLE)
  if (at < 0) return undefined
  const [head = ''] = json.toString('latin1', at + 1, at + 1 + ENVELOPE_HEAD_LENGTH).split('"', 1)
  return issuerOfEnvelope(head)
}
