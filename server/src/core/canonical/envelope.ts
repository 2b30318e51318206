/**
 * Reasoning blobs on their way through clients of other protocols (docs/protocols.md#reasoning-envelope). A blob is
 * only of use to whoever issued it, so it travels with its issuer's name and is replayed to no one else. The whole
 * envelope is base64, because Gemini clients hold signatures as bytes.
 */
import type { ProtocolId } from '../catalogue.ts'
import { decodeBase64, decodeBase64Bytes, encodeBase64 } from './media/base64.ts'
import type { Signature } from './request.ts'

/** What the blob belongs to: a reasoning summary, raw reasoning, nothing but the blob itself, or a tool call. */
export type EnvelopeKind = 'summary' | 'raw' | 'redacted' | 'call'

export interface OpenedEnvelope {
  /** undefined: the text was not an envelope but a bare blob in the field of its protocol. */
  readonly kind: EnvelopeKind | undefined
  readonly signature: Signature
}

const MARK = 'gw1.'
/** Base64 of `gw1` and the first bits of the dot: what every envelope begins with. */
export const ENVELOPE_START = 'Z3cxL'

/** The envelope's text; a signature that already names its issuer keeps it. */
export function sealSignature(signature: Signature, kind: EnvelopeKind, issuer: string): string {
  const issuedBy = escapeDots(signature.issuer ?? issuer)
  const id = escapeDots(signature.id ?? '')
  return encodeBase64(`${MARK}${issuedBy}.${kind}.${id}.${signature.data}`)
}

/** Reads an envelope; anything else is a bare blob from the field that `protocol` has for it. */
export function openSignature(text: string, protocol?: ProtocolId): OpenedEnvelope {
  const bare = { issuer: undefined, id: undefined, data: text }
  const signature = protocol === undefined ? bare : { ...bare, protocol }
  return openEnvelope(text) ?? { kind: undefined, signature }
}

/** Number of leading characters of an envelope that always include its issuer's name. */
export const ENVELOPE_HEAD_LENGTH = 400

/** The issuer of an envelope with this beginning; `undefined`: it is not an envelope. */
export function issuerOfEnvelope(head: string): string | undefined {
  if (!head.startsWith(ENVELOPE_START)) return undefined
  const bytes = decodeBase64Bytes(head.slice(0, head.length - (head.length % 4)))
  const [mark, issuer, kind] = new TextDecoder().decode(bytes ?? new Uint8Array(0)).split('.', 3)
  return mark === 'gw1' && issuer !== undefined && kind !== undefined ? unescapeDots(issuer) : undefined
}

/** The chain a blob would be replayed to. */
export interface SignatureReader {
  readonly protocol: ProtocolId
  readonly issuer: string
}

/**
 * A blob goes back only to its issuer, and one without an envelope only in the protocol it came in; others would refuse
 * or misread it (docs/protocols.md#rule-7).
 */
export function mayReplay(signature: Signature | undefined, reader: SignatureReader): signature is Signature {
  if (signature === undefined) return false
  if (signature.issuer === undefined) return signature.protocol === reader.protocol
  return signature.issuer === reader.issuer
}

function openEnvelope(text: string): OpenedEnvelope | undefined {
  if (!text.startsWith(ENVELOPE_START)) return undefined
  const plain = decodeBase64(text)
  if (plain === undefined || !plain.startsWith(MARK)) return undefined
  const [issuer, kind, id] = plain.slice(MARK.length).split('.', 3)
  if (issuer === undefined || id === undefined || !isKind(kind)) return undefined
  const data = plain.slice(MARK.length + issuer.length + kind.length + id.length + 3)
  const nativeId = unescapeDots(id)
  return {
    kind,
    signature: { issuer: unescapeDots(issuer), id: nativeId === '' ? undefined : nativeId, data },
  }
}

function isKind(text: string | undefined): text is EnvelopeKind {
  return text === 'summary' || text === 'raw' || text === 'redacted' || text === 'call'
}

function escapeDots(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('.', '%2E')
}

function unescapeDots(text: string): string {
  return text.replaceAll('%2E', '.').replaceAll('%25', '%')
}
