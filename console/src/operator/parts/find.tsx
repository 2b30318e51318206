import { TextInput } from '@mantine/core'
import { Icon } from '../../parts/marks/icon.tsx'
import styles from './operator.module.css'

interface FindProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (text: string | undefined) => void
}

/** A search field. */
export function Find({ label, value, onChange }: FindProps) {
  return (
    <TextInput
      size="xs"
      className={styles.find ?? ''}
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={14} />}
      value={value ?? ''}
      onChange={({ currentTarget: { value: text } }) => onChange(text === '' ? undefined : text)}
    />
  )
}
