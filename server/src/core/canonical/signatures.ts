/** Whether a chain can be sent the signed reasoning of earlier turns, and a conversation without it. */
import { mayReplay, type SignatureReader } from './envelope.ts'
import type { CanonicalRequest, Part, Signature } from './request.ts'

/** Something in the history would be sent back to its issuer. */
export function replaysSignatures({ turns }: CanonicalRequest, reader: SignatureReader): boolean {
  return turns.some(({ parts }) => parts.some((part) => mayReplay(signatureOf(part), reader)))
}

/** The conversation without the signed reasoning. */
export function withoutSignatures(request: CanonicalRequest): CanonicalRequest {
  return {
    ...request,
    turns: request.turns.map((turn) => {
      if (!turn.parts.some((part) => signatureOf(part) !== undefined)) return turn
      return { ...turn, parts: turn.parts.flatMap(unsigned) }
    }),
  }
}

function signatureOf(part: Part): Signature | undefined {
  return part.type === 'reasoning' || part.type === 'tool-call' ? part.signature : undefined
}

function unsigned(part: Part): readonly Part[] {
  if (part.type === 'reasoning' && part.signature !== undefined) return []
  return part.type === 'tool-call' && part.signature !== undefined
    ? [{ ...part, signature: undefined }]
    : [part]
}
