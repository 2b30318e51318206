import { isJsonObject } from '../../core/json.ts'
import { readRequestText } from '../../core/metering/request-text.ts'
import { continuedBody } from '../../core/protocols/responses/answer/stored-turn.ts'
import type { ReceivedCall } from '../call.ts'
import { parseJson } from '../attempt/classify.ts'
import { pastItems } from '../lanes/convert-request.ts'
import type { Pipeline } from '../context.ts'

/** Approximate overhead of each message in a vendor's chat template. */
const TOKENS_PER_MESSAGE = 4
const BYTES_PER_TOKEN = 4
/** An average image; vendors count between 85 and about 1 600. */
const TOKENS_PER_MEDIA = 765
/** Parsing this much takes about 2 ms; a larger body is counted without parsing. */
const PARSED_BYTES_MAX = 262_144

/** Input tokens of a request by our own tokenizer, for upstreams that do not count. */
export async function estimateInputTokens(
  pipeline: Pick<Pipeline, 'tokens'>,
  call: Pick<ReceivedCall, 'body' | 'scan' | 'past' | 'endpoint'>,
): Promise<number> {
  const { body, scan, past } = call
  if (scan.bodyBytes > PARSED_BYTES_MAX) return countBytes(scan)
  const parsed = parseJson(Buffer.concat(body.chunks))
  if (parsed === undefined) return countBytes(scan)
  const read = call.endpoint.kind.form?.text ?? readRequestText
  const {
    texts,
    messages,
    media,
    tokens = 0,
  } = read(past?.kind === 'kept' && isJsonObject(parsed) ? continuedBody(parsed, pastItems(past)) : parsed)
  const counted = await pipeline.tokens.countLong(texts)
  return counted + tokens + messages * TOKENS_PER_MESSAGE + media * TOKENS_PER_MEDIA
}

/** Four bytes per token, media by number: a body this long is mostly text with little syntax. */
function countBytes(scan: ReceivedCall['scan']): number {
  const bytes = scan.bodyBytes - scan.mediaBytes + scan.items * scan.repeatedBytes
  return Math.ceil(bytes / BYTES_PER_TOKEN) + scan.mediaCount * TOKENS_PER_MEDIA
}
