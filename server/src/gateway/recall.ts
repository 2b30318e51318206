/** `previous_response_id`: what the call continues is found before anything is decided about it (contract §4.2). */
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { JsonValue } from '../core/json.ts'
import { createRequestScanner } from '../core/passthrough/request-scan.ts'
import { keepsAnswers } from '../core/protocols/index.ts'
import { itemsOfTurn, readTurn } from '../core/protocols/responses/stored-turn.ts'
import { usableChains } from '../core/routing/order.ts'
import type { Past, ReceivedCall } from './call.ts'
import { placesOf } from './dialect.ts'
import type { Gateway } from './gateway.ts'
import type { Conversation } from './turn-keeper.ts'

/**
 * The call with its past. A conversation kept here counts as part of the request, in bytes held and in tokens estimated;
 * one kept upstream needs a chain that leads there.
 */
export async function recall(
  gateway: Pick<Gateway, 'turns' | 'catalogue'>,
  call: ReceivedCall,
): Promise<ReceivedCall> {
  const { previousResponseId } = call.scan
  if (previousResponseId === undefined || !keepsAnswers(call.endpoint.protocol)) return call
  const found = await gateway.turns.conversation(call.key.id, previousResponseId, call.at)
  switch (found.kind) {
    case 'unknown':
      throw refusal(`the previous response ${quoted(found.missing)} was not found`)
    case 'too-long':
      throw refusal('the conversation behind it is too long to be kept here; send its items')
    case 'upstream':
      checkReach(gateway, call, found.place)
      return { ...call, past: found }
    case 'kept':
      return continued(call, found)
  }
}

function continued(
  call: ReceivedCall,
  { ids, bodies }: Extract<Conversation, { kind: 'kept' }>,
): ReceivedCall {
  const items: JsonValue[] = []
  for (const body of bodies) {
    const turn = readTurn(JSON.parse(body) as JsonValue)
    if (turn === undefined) throw new Error('a kept turn cannot be read')
    for (const item of itemsOfTurn(turn)) items.push(item)
  }
  const bytes = Buffer.from(JSON.stringify(items))
  call.body.hold(bytes.byteLength)
  const past: Past = { kind: 'kept', ids, items, bytes }
  const { bodyBytes, mediaBytes, mediaCount } = measure(bytes)
  const scan = {
    ...call.scan,
    bodyBytes: call.scan.bodyBytes + bodyBytes,
    mediaBytes: call.scan.mediaBytes + mediaBytes,
    mediaCount: call.scan.mediaCount + mediaCount,
  }
  return { ...call, past, scan }
}

/** How much of it is pictures and sealed reasoning rather than words, as the scanner tells it of a body. */
function measure(items: Uint8Array): { bodyBytes: number; mediaBytes: number; mediaCount: number } {
  const scanner = createRequestScanner('responses')
  for (const piece of [Buffer.from('{"model":"-","input":'), items, Buffer.from('}')]) scanner.push(piece)
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new Error(`a kept conversation cannot be read: ${scan.message}`)
  const { mediaBytes, mediaCount } = scan
  return { bodyBytes: items.byteLength, mediaBytes, mediaCount }
}

/** An unknown model is told as such later. */
function checkReach(gateway: Pick<Gateway, 'catalogue'>, call: ReceivedCall, place: string): void {
  const catalogue = gateway.catalogue()
  const model = catalogue.models.get(call.modelId)
  if (model === undefined || model.status !== 'enabled') return
  const chains = usableChains(model, catalogue)
  const reached = chains.some((chain) => keepsAnswers(chain.protocol) && placesOf(chain).includes(place))
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
