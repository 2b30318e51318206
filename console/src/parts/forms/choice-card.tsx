import '@mantine/core/styles/RadioCard.layer.css'
import '@mantine/core/styles/RadioIndicator.layer.css'
import { Radio } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './choice-card.module.css'

interface ChoiceCardProps {
  readonly value: string
  readonly title: string
  /** Beside the title. */
  readonly tag?: string | undefined
  readonly hint: ReactNode
  /** At the end of the card: the price. */
  readonly children?: ReactNode
}

/** A choice of two lines within a `Radio.Group`. */
export function ChoiceCard({ value, title, tag, hint, children }: ChoiceCardProps) {
  return (
    <Radio.Card value={value} className={styles.card ?? ''} aria-label={title}>
      <Radio.Indicator />
      <span className={styles.words}>
        <span className={styles.title}>
          {title}
          {tag !== undefined && <span className={styles.tag}>{tag}</span>}
        </span>
        <span className={styles.hint}>{hint}</span>
      </span>
      {children !== undefined && <span className={styles.end}>{children}</span>}
    </Radio.Card>
  )
}

/** A vertical list of choices. */
export function ChoiceCards({ children }: { readonly children: ReactNode }) {
  return <div className={styles.cards}>{children}</div>
}
