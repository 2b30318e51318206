import type { Chain, Model } from '../../core/catalogue.ts'
import { isJsonObject } from '../../core/json.ts'
import { modelEdits, spliceChunks } from '../../core/passthrough/splice.ts'
import type { ReceivedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { askUpstream, type QuestionRequest } from './ask-upstream.ts'
import { parseJson } from './classify.ts'
import { formRequest, upstreamOf } from './dialect.ts'
import type { Leg } from './leg.ts'

export type ForwardCountParts = Pick<Pipeline, 'limits' | 'now' | 'telemetry' | 'upstream'>

/** A count is a few dozen bytes. */
const ANSWER_BYTES_MAX = 65_536

/**
 * Asks the chains of the client's own protocol that can count. The answer is returned unchanged; undefined if none can
 * or all failed: then the gateway counts itself.
 */
export async function forwardCount(
  pipeline: ForwardCountParts,
  call: ReceivedCall,
  { model, chains }: { readonly model: Model; readonly chains: readonly Chain[] },
): Promise<string | undefined> {
  const result = await askUpstream(pipeline, {
    at: call.at,
    catalogue: call.catalogue,
    model,
    chains: chains.filter(({ protocol }) => protocol === call.endpoint.protocol),
    byok: false,
    requestOver: (leg) => Promise.resolve(countRequest(call, leg)),
    answerBytesMax: ANSWER_BYTES_MAX,
    isAnswer: ({ status, body }) => status === 200 && isJsonObject(parseJson(body)),
  })
  return result.kind === 'over' ? result.end.body.toString('utf8') : undefined
}

function countRequest(
  { body, scan, catalogue }: Pick<ReceivedCall, 'body' | 'scan' | 'catalogue'>,
  leg: Leg,
): QuestionRequest | undefined {
  const found = upstreamOf(leg, catalogue)
  if (found.dialect.respond !== undefined) return undefined
  const { chain } = leg
  const { secret } = found.credential
  const request = formRequest(found, { chain, secret, operation: 'count-tokens' })
  if (request === undefined) return undefined
  return {
    request,
    secret,
    body: spliceChunks(body.chunks, modelEdits(scan.modelSpans, chain.forwardModelId)),
  }
}
