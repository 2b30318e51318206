import { Icon, type IconName } from './icon.tsx'
import styles from './state.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

interface StateProps {
  readonly icon: IconName
  readonly tone: Tone
  readonly children: string
}

/** A state as an icon and a word: colour alone is never enough. */
export function State({ icon, tone, children }: StateProps) {
  return (
    <span className={styles.state} data-tone={tone}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  )
}
