/** The responses protocol, both ways (docs/reference/contract.md#2.4, #4.2, #6.2; docs/protocols.md#responses). */
import { readErrorBody } from '../error-body.ts'
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeError } from './error.ts'
import { needsInline } from './needs-inline.ts'
import { ResponsesStreamDecoder } from './stream-decoder.ts'
import { ResponsesStreamEncoder } from './stream-encoder.ts'

export const responsesProtocol: Protocol = {
  id: 'responses',
  modelPlace: 'body',
  forwardedHeaders: ['openai-beta'],
  encodeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  keepsAnswers: true,
  decodeRequest,
  encodeRequest,
  needsInline,
  decodeResponse,
  encodeResponse,
  decodeError: readErrorBody,
  encodeError,
  streamDecoder: () => new ResponsesStreamDecoder(),
  streamEncoder: (context) => new ResponsesStreamEncoder(context),
}
