/** Anthropic's messages protocol (docs/protocols.md#messages). */
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { decodeError, encodeError } from './error.ts'
import { needsInline } from './needs-inline.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'

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
