import { Tip } from '../page/tip.tsx'
import parts from './limit-bar.module.css'

interface LimitBarProps {
  /** 0 to 1; more is shown as full. */
  readonly used: number
  /** The usage in words, with what is left and when the window ends. */
  readonly label: string
  /** Muted: the limit does not apply right now. */
  readonly quiet?: boolean
  /** `fine`: a share, for which a full bar is no problem. */
  readonly full?: 'fine'
}

/** From this share on the bar is marked. */
const NEAR = 0.9

export function LimitBar({ used, label, quiet = false, full }: LimitBarProps) {
  const tone = quiet
    ? 'quiet'
    : full === 'fine'
      ? undefined
      : used >= 1
        ? 'full'
        : used >= NEAR
          ? 'near'
          : undefined
  const width = Math.min(1, Math.max(0, used)) * 100
  return (
    <Tip label={label} multiline maw={320}>
      <svg className={parts.bar} role="img" aria-label={label} data-tone={tone}>
        <rect width={`${width}%`} height="4" />
      </svg>
    </Tip>
  )
}
