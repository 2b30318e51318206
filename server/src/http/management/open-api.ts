/** The management API as the listeners know it: its code and its routes are read after the start, which calls need not wait for. */
import type { Background } from '../../telemetry/background.ts'
import type { AnswerRequest, ApiOptions } from './api-context.ts'

/** Answers every request that is not a call. */
export interface ManagementApi {
  readonly answer: AnswerRequest
  /** Reads and builds it, which otherwise the first request would do. */
  readonly load: () => void
}

export function openApi(options: ApiOptions): ManagementApi {
  return openLater(async () => {
    const { routeAll } = await import('./api.ts')
    return routeAll(options)
  }, options.telemetry.background)
}

/** `read` is called when it is first wanted, and again after it has failed. Meanwhile requests wait. */
export function openLater(read: () => Promise<AnswerRequest>, background: Background): ManagementApi {
  let opened: AnswerRequest | undefined
  let opening: Promise<AnswerRequest> | undefined
  const open = async (): Promise<AnswerRequest> => {
    opening ??= read()
    try {
      return (opened = await opening)
    } catch (error) {
      // Such as too many open files.
      opening = undefined
      throw error
    }
  }
  const answerLater: AnswerRequest = (request, response) => {
    const answered = open().then(
      (answer) => answer(request, response),
      (error: unknown) => {
        response.destroy()
        throw error
      },
    )
    background.track(answered, 'open the management API')
  }
  return {
    answer: (request, response) => (opened ?? answerLater)(request, response),
    load: () => background.track(open(), 'open the management API'),
  }
}
