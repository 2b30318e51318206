import type { Task } from '../../api/operator/videos.ts'
import { State } from '../../parts/marks/state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

export const TASK_STATES = ['queued', 'in_progress', 'completed', 'failed'] as const

const SIGNS = {
  queued: { icon: 'clock', tone: 'quiet' },
  in_progress: { icon: 'rotate', tone: 'warn' },
  completed: { icon: 'done', tone: 'good' },
  failed: { icon: 'failed', tone: 'bad' },
} as const

export function TaskState({ of: { status } }: { readonly of: Task }) {
  const { t } = useTranslation()
  return <State {...SIGNS[status]}>{t(`videos.states.${status}`)}</State>
}
