import type { Chain, Model } from '../../core/catalogue.ts'
import { isJsonObject } from '../../core/json.ts'
import { modelEdits, spliceChunks } from '../../core/passthrough/splice.ts'
import type { UpstreamHead, UpstreamSink } from '../../upstream/upstream.ts'
import type { ReceivedCall } from '../call.ts'
import { parseJson } from './classify.ts'
import { formRequest, upstreamOf } from './dialect.ts'
import type { Pipeline } from '../context.ts'

/** A count is a few dozen bytes. */
const ANSWER_BYTES_MAX = 65_536

/**
 * Asks the first chain of the client's own protocol that can count. Its answer goes back as it is; undefined when none
 * can or it failed: then the gateway counts itself.
 */
export async function forwardCount(
  pipeline: Pipeline,
  call: ReceivedCall,
  target: { readonly model: Model; readonly chains: readonly Chain[] },
): Promise<string | undefined> {
  const chain = target.chains.find((candidate) => candidate.protocol === call.endpoint.protocol)
  if (chain === undefined) return undefined
  const leg = { chain, model: target.model, byok: false, why: 'priority' as const }
  const found = upstreamOf(leg, pipeline.catalogue())
  const { vendor, dialect, credential } = found
  if (dialect.respond !== undefined) return undefined
  const formed = formRequest(found, { chain, secret: credential.secret, operation: 'count-tokens' })
  if (formed === undefined) return undefined
  const body = spliceChunks(call.body.chunks, modelEdits(call.scan.modelSpans, chain.forwardModelId))
  const answer = await new Promise<string | undefined>((resolve) => {
    const exchange = pipeline.upstream.open(
      {
        request: formed,
        auth: dialect.auth,
        credential: credential.secret,
        body: body.chunks,
        bodyLength: body.length,
        timeouts: vendor.timeouts,
      },
      collect(resolve, () => exchange.abort()),
    )
  })
  return answer !== undefined && isJsonObject(parseJson(Buffer.from(answer))) ? answer : undefined
}

/** Gives the whole body of a 200, or undefined for anything else. */
function collect(resolve: (answer: string | undefined) => void, abort: () => void): UpstreamSink {
  const chunks: Uint8Array[] = []
  let length = 0
  let status = 0
  return {
    head(head: UpstreamHead) {
      status = head.status
    },
    data(chunk) {
      length += chunk.byteLength
      if (length > ANSWER_BYTES_MAX) abort()
      else chunks.push(chunk)
    },
    end: () => resolve(status === 200 ? Buffer.concat(chunks).toString('utf8') : undefined),
    fail: () => resolve(undefined),
  }
}
