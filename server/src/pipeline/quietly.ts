import type { LoggedCall } from './call.ts'
import type { Pipeline } from './context.ts'

/** Does what no call may fail for: an error is logged, and the call goes on. `what` is the act in a few words. */
export function quietly(
  { telemetry }: Pick<Pipeline, 'telemetry'>,
  { requestId }: Pick<LoggedCall, 'requestId'>,
  what: string,
  act: () => void,
): void {
  try {
    act()
  } catch (error) {
    telemetry.log.error({ requestId, error, what }, 'a step of a call failed; the call goes on without it')
  }
}
