/** Anthropic's messages protocol (docs/protocols.md#messages). */
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './request/decode-request.ts'
import { decodeResponse } from './answer/decode-response.ts'
import { encodeRequest } from './request/encode-request.ts'
import { encodeResponse } from './answer/encode-response.ts'
import { decodeError, encodeError } from './error.ts'
import { needsInline } from './request/needs-inline.ts'
import { streamDecoder } from './answer/stream-decoder.ts'
import { streamEncoder } from './answer/stream-encoder.ts'

export const messagesProtocol: Protocol = {
  id: 'messages',
  modelPlace: 'body',
  keyHeader: { name: 'x-api-key', at: 'gateway-address' },
  forwardedHeaders: ['anthropic-beta', 'anthropic-version'],
  encodeTokenCount: (tokens) => ({ input_tokens: tokens }),
  keepsAnswers: false,
  decodeRequest,
  encodeRequest,
  needsInline,
  decodeResponse,
  encodeResponse,
  decodeError,
  encodeError,
  streamDecoder,
  streamEncoder,
}
