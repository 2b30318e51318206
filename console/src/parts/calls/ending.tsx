import type { Call } from '../../api/calls.ts'
import type { IconName } from '../marks/icon.tsx'
import { State, type Tone } from '../marks/state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const ENDINGS = {
  complete: { icon: 'done', tone: 'good' },
  'fell-back': { icon: 'fellBack', tone: 'warn' },
  refused: { icon: 'failed', tone: 'bad' },
  'upstream-error': { icon: 'failed', tone: 'bad' },
  'upstream-cut': { icon: 'warning', tone: 'warn' },
  'client-gone': { icon: 'failed', tone: 'quiet' },
  timeout: { icon: 'clock', tone: 'bad' },
  stopped: { icon: 'paused', tone: 'quiet' },
  'gateway-error': { icon: 'failed', tone: 'bad' },
  recovered: { icon: 'rotate', tone: 'quiet' },
} as const satisfies Readonly<Record<string, { readonly icon: IconName; readonly tone: Tone }>>

export type EndingKind = keyof typeof ENDINGS

/** How a call ended; an answer of the fallback model is told apart from a plain completion. */
export function endingOf(call: Pick<Call, 'ending' | 'attempts'>): EndingKind {
  const fellBack = call.attempts.at(-1)?.why === 'fallback'
  if (call.ending === 'complete' && fellBack) return 'fell-back'
  return isEnding(call.ending) ? call.ending : 'gateway-error'
}

function isEnding(ending: string): ending is EndingKind {
  return Object.hasOwn(ENDINGS, ending)
}

/** An icon and a word; failures with their status. */
export function Ending({ call }: { readonly call: Pick<Call, 'ending' | 'attempts' | 'http_status'> }) {
  const { t } = useTranslation()
  const kind = endingOf(call)
  const { icon, tone } = ENDINGS[kind]
  return (
    <State icon={icon} tone={tone}>
      {t(`endings.${kind}`) + (tone === 'bad' && call.http_status >= 400 ? ` ${call.http_status}` : '')}
    </State>
  )
}
