import type { OpenCall } from '../../src/core/ledger/hot-rows.ts'
import type { StoreState } from './store.ts'

/** Open calls told apart: those that run, and those that recovery has ended. */
export function byRunning(calls: Iterable<OpenCall>): Pick<StoreState, 'openCalls' | 'recoveredCalls'> {
  const openCalls = new Map<OpenCall['callId'], OpenCall>()
  const recoveredCalls = new Map<OpenCall['callId'], OpenCall>()
  for (const call of calls) {
    if (call.recovered === undefined) openCalls.set(call.callId, call)
    else recoveredCalls.set(call.callId, call)
  }
  return { openCalls, recoveredCalls }
}
