/**
 * Playwright notes the call in progress in an `AsyncLocalStorage`. On Node 20 that makes each promise of its thread slower from then
 * on: tests of the server took 1.04 to 1.21 of the CPU, in five alternating rounds of a part.
 */
import type { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'

interface PlaywrightParts {
  readonly utils: { readonly emptyZone: { readonly _asyncLocalStorage?: AsyncLocalStorage<unknown> } }
}

const { utils }: PlaywrightParts = createRequire(import.meta.url)('playwright-core/lib/coreBundle')

/** Until the next call of Playwright. Throws if Playwright keeps its calls elsewhere now. */
export function forgetCalls(): void {
  const { _asyncLocalStorage: calls } = utils.emptyZone
  if (calls === undefined)
    throw new Error('Playwright keeps its calls elsewhere: this file has to look there')
  calls.disable()
}
