/** Turns being laid out from messages in which a user's words and the results of calls come mixed. */
import { addAll } from '../canonical/add-all.ts'
import type { Part, ToolResultPart, Turn } from '../canonical/request.ts'

export interface PlacedTurns {
  readonly turns: GrowingTurn[]
  /** Index directly after the model's last turn, where its tool results belong. */
  readonly behindCalls: number
}

export interface GrowingTurn {
  readonly role: Turn['role']
  readonly parts: Part[]
}

/** Places results after their calls and before anything the user said since. */
export function placeResults({ turns, behindCalls }: PlacedTurns, results: readonly ToolResultPart[]): void {
  if (results.length === 0) return
  const turn = turns[behindCalls]
  if (turn?.role === 'tool') addAll(turn.parts, results)
  else turns.splice(behindCalls, 0, { role: 'tool', parts: [...results] })
}

/** Appends to the last turn if it has this role, else as a new turn. */
export function appendParts({ turns }: Pick<PlacedTurns, 'turns'>, { role, parts }: Turn): void {
  if (parts.length === 0) return
  const last = turns.at(-1)
  if (last?.role === role) addAll(last.parts, parts)
  else turns.push({ role, parts: [...parts] })
}
