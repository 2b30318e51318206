import { modelId } from '../../src/core/ids.ts'
import type { VideoTask } from '../../src/core/video/task.ts'

export const taskIdOf = (callId: string): string => `task_of_${callId}`

/** The task of a call, its intent just written. */
export function taskOf(call: Pick<VideoTask, 'callId' | 'keyId' | 'accountId' | 'kind'>): VideoTask {
  return {
    ...call,
    id: taskIdOf(call.callId),
    status: 'queued',
    phase: 'intent',
    modelId: modelId('any'),
    chainId: undefined,
    vendorCode: undefined,
    byok: false,
    state: {},
    next: undefined,
    dueAt: 0,
    polls: 0,
    failuresInRow: 0,
    progress: 0,
    createdAt: 0,
    completedAt: undefined,
    expiresAt: 86_400_000,
    seconds: '4',
    secondsBilled: 4,
    secondsProduced: undefined,
    size: '1280x720',
    prompt: '',
    url: undefined,
    blob: undefined,
    blobBytes: undefined,
    blobSha256: undefined,
    error: undefined,
    lastAnswer: undefined,
    detail: {},
  }
}
