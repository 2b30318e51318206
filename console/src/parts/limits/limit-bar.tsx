import { Tip } from '../page/tip.tsx'
import parts from './limit-bar.module.css'

interface LimitBarProps {
  /** 0 to 1; more is shown as full. */
  readonly used: number
  /** The same in words, with what is left and when the window ends. */
  readonly label: string
  /** Of something that does not count right now. */
  readonly quiet?: boolean
  /** `fine`: it is a share, and to be full is nothing to look at. */
  readonly full?: 'fine'
}

/** From here on a person should look. */
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
