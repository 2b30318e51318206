/**
 * Stored responses as shown to clients: the same work for small ones on the thread that serves calls and for large ones
 * in another thread.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { inputItemPage, readTurn, type Turn } from '../../../core/protocols/responses/answer/stored-turn.ts'
import { parseJson } from '../../attempt/classify.ts'
import { bytesOf } from './bytes-of.ts'
import type { Shown, ShowTask } from './work.ts'
import { type KeptText, textOf } from './shared-text.ts'

/** Throws if a stored turn cannot be read. */
export function showKept({ of }: ShowTask): Shown {
  switch (of.kind) {
    case 'response':
      return { kind: 'shown', body: bytesOf(turnOf(of.turn).response), isRunning: false }
    case 'input-items': {
      const page = inputItemPage(turnOf(of.turn), of.page)
      return { kind: 'shown', body: page && bytesOf(page), isRunning: false }
    }
    case 'forwarded':
      return showForwarded(of.body, of.model)
  }
}

function showForwarded(body: Uint8Array, model: string): Shown {
  const json = parseJson(body)
  if (json === undefined) return { kind: 'shown', body: undefined, isRunning: false }
  if (!isJsonObject(json)) return { kind: 'shown', body: bytesOf(json), isRunning: false }
  const named = typeof json['model'] === 'string' ? { ...json, model } : json
  return { kind: 'shown', body: bytesOf(named), isRunning: isRunning(json) }
}

function isRunning({ background, status }: JsonObject): boolean {
  return background === true || status === 'queued' || status === 'in_progress'
}

function turnOf(body: KeptText): Turn {
  const turn = readTurn(JSON.parse(textOf(body)) as JsonValue)
  if (turn === undefined) throw new Error('a kept turn cannot be read')
  return turn
}
