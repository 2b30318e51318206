/**
 * `previous_response_id` and `item_reference`: what the call continues is found before anything is decided about it
 * (docs/reference/contract.md#4.2).
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Soon } from '../../core/soon.ts'
import { keepsAnswers } from '../../core/protocols/index.ts'
import { usableChains } from '../../core/routing/order.ts'
import { endedWell, taskOfTurn } from '../background/stored-background.ts'
import { advance, type Past, type ReceivedCall, type ReservedCall } from '../call.ts'
import { readPast } from '../lanes/threads/read-past.ts'
import { sharedText } from '../lanes/threads/shared-text.ts'
import type { TaskResult } from '../lanes/threads/work.ts'
import { upstreamAccountOf, upstreamAccountsOf } from '../attempt/dialect.ts'
import type { Pipeline } from '../context.ts'
import { recallItems } from './recall-items.ts'
import type { Conversation, NewContent, NewTurn } from '../instance/turn-keeper.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { clientInput } from '../lanes/convert-request.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { KeptAnswer } from '../lanes/lane.ts'
import type { Leg } from '../attempt/leg.ts'

/**
 * The call with the conversation it continues. One stored here counts as part of the request, in bytes held and in
 * tokens estimated; one stored upstream needs a chain to that account.
 */
export function recall(pipeline: RecallParts, call: ReceivedCall): Soon<ReceivedCall> {
  return keepsAnswers(call.endpoint.protocol) ? recallKept(pipeline, call) : call
}

type RecallParts = Pick<Pipeline, 'turns' | 'storage' | 'conversions'>

async function recallKept(pipeline: RecallParts, call: ReceivedCall): Promise<ReceivedCall> {
  const { previousResponseId } = call.scan
  if (previousResponseId === undefined) return recallItems(pipeline, call)
  const found = await pipeline.turns.conversation(call.key.id, previousResponseId, call.at)
  switch (found.kind) {
    case 'unknown':
      throw refusal(`the previous response ${quoted(found.missing)} was not found`)
    case 'too-long':
      throw refusal('its conversation is too long to be kept here; send its items')
    case 'upstream':
      if (found.background) await checkFinished(pipeline, call, previousResponseId)
      checkReach(call, found.place)
      return advance(call, { stage: 'received', past: found })
    case 'kept':
      return continued(pipeline, await recallItems(pipeline, call), found)
  }
}

/** A small one is read here; a long conversation is read in a thread. */
async function continued(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: ReceivedCall,
  { ids, bodies }: Extract<Conversation, { kind: 'kept' }>,
): Promise<ReceivedCall> {
  const characters = bodies.reduce((sum, body) => sum + body.length, 0)
  const read =
    characters <= NEAR_CHARACTERS_MAX
      ? readPast({ kind: 'past', bodies })
      : await readFar(pipeline, call, bodies)
  if (read.kind !== 'past') throw new Error(`a kept conversation was read as ${read.kind}`)
  const { items: bytes, bodyBytes, mediaBytes, mediaCount, values, unseenInput } = read
  call.body.hold(bytes.byteLength)
  const past: Past = { kind: 'kept', ids: [...ids, ...(call.past?.ids ?? [])], bytes }
  const scan = {
    ...call.scan,
    bodyBytes: call.scan.bodyBytes + bodyBytes,
    mediaBytes: call.scan.mediaBytes + mediaBytes,
    mediaCount: call.scan.mediaCount + mediaCount,
    values: call.scan.values + values,
    extras: { ...call.scan.extras, unseenInput: call.scan.extras.unseenInput || unseenInput },
  }
  return advance(call, { stage: 'received', past, scan })
}

async function readFar(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: ReceivedCall,
  texts: readonly string[],
): Promise<TaskResult> {
  const bodies: Uint8Array[] = []
  for (const text of texts) bodies.push(await sharedText(text))
  return pipeline.conversions.run({ kind: 'past', bodies }, { accountId: call.account.id })
}

/** Reading and writing this much takes about 2 ms. */
const NEAR_CHARACTERS_MAX = 131_072

/** A background response can be continued once it is charged. */
async function checkFinished(
  pipeline: Pick<Pipeline, 'turns' | 'storage'>,
  call: ReceivedCall,
  id: string,
): Promise<void> {
  const turn = await pipeline.turns.find(call.key.id, id, call.at)
  const task = turn === undefined ? undefined : await taskOfTurn(pipeline, turn)
  // A conversation outlives the record of its task only if it was continued from the charged answer.
  if (task === undefined || endedWell(task)) return
  const ended = task.phase === 'ended'
  throw refusal(
    ended ? `the response ${quoted(id)} did not complete` : `the response ${quoted(id)} is not finished yet`,
  )
}

/** An unknown model is reported later. */
function checkReach({ catalogue, modelId }: ReceivedCall, place: string): void {
  const model = catalogue.models.get(modelId)
  if (model === undefined || model.status !== 'enabled') return
  const chains = usableChains(model, catalogue)
  const reached = chains.some(
    (chain) => keepsAnswers(chain.protocol) && upstreamAccountsOf(chain).includes(place),
  )
  if (reached) return
  throw refusal('the previous response is kept by a provider that does not serve this model; send its items')
}

function refusal(message: string): GatewayError {
  return new GatewayError(40000, {
    message: `previous_response_id: ${message}`,
    details: { param: 'previous_response_id', reason: 'previous_response_not_found' },
  })
}

function quoted(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id)
}

/** Ids are put into addresses and into the store as they are. */
const RESPONSE_ID = /^[\x21-\x7e]{1,256}$/

/**
 * Stores a response that ended normally and was charged: all of it if the gateway converted it, otherwise only where it
 * is stored (docs/reference/contract.md#4.2). What an upstream stores may be more than what it has sent, so it can only
 * be read again if the upstream's own usage was charged.
 */
export function remember(pipeline: Pick<Pipeline, 'turns'>, turn: NewTurn, charged: MeterReading): void {
  if (turn.content.kind === 'upstream' && charged.source !== 'upstream') return
  pipeline.turns.keep(turn)
}

/** What is stored of an answer; undefined: nothing. */
export function turnOf(
  pipeline: Pick<Pipeline, 'now'>,
  call: ReservedCall,
  { leg, exchange }: { readonly leg: Leg; readonly exchange: Exchange },
): NewTurn | undefined {
  const content = contentOf(call, leg, exchange.kept)
  if (content === undefined) return undefined
  return {
    keyId: call.key.id,
    modelId: leg.model.modelId,
    previousId: call.scan.previousResponseId,
    history: call.past?.ids ?? [],
    at: pipeline.now(),
    content,
  }
}

function contentOf(call: ReservedCall, leg: Leg, kept: KeptAnswer | undefined): NewContent | undefined {
  switch (kept?.kind) {
    case undefined:
      return undefined
    case 'id':
      return RESPONSE_ID.test(kept.id)
        ? { kind: 'upstream', responseId: kept.id, place: upstreamAccountOf(leg), chainId: leg.chain.id }
        : undefined
    case 'response':
      return {
        kind: 'kept',
        callId: call.callId,
        input: clientInput(call),
        responseJson: kept.json,
        requestBytes: call.body.length,
      }
  }
}
