import type { MeterReading } from '../../core/metering/meter.ts'
import type { ReservedCall } from '../call.ts'
import { clientInput } from '../lanes/convert-request.ts'
import { placeOf } from '../attempt/dialect.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Pipeline } from '../context.ts'
import type { KeptAnswer } from '../lanes/lane.ts'
import type { NewContent, NewTurn } from '../instance/turn-keeper.ts'
import type { Leg } from '../attempt/leg.ts'

/** Ids are put into addresses and into the store as they are. */
const RESPONSE_ID = /^[\x21-\x7e]{1,256}$/

/**
 * Keeps a response that ended well and was charged: all of it where the gateway made it, where it is kept otherwise
 * (docs/reference/contract.md#4.2). What an upstream keeps may be more than what it has sent, so it is only read again
 * where its own usage was charged.
 */
export function remember(pipeline: Pick<Pipeline, 'turns'>, turn: NewTurn, charged: MeterReading): void {
  if (turn.content.kind === 'upstream' && charged.source !== 'upstream') return
  pipeline.turns.keep(turn)
}

/** What there is to keep of an answer; undefined: nothing. */
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
        ? { kind: 'upstream', responseId: kept.id, place: placeOf(leg), chainId: leg.chain.id }
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
