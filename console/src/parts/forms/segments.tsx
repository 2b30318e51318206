import { type FocusEventHandler, useId } from 'react'
import { classes } from '../marks/classes.ts'
import styles from './segments.module.css'

interface SegmentsProps<Value extends string> {
  readonly data: readonly { readonly value: Value; readonly label: string }[]
  /** Optional only because the types of a form's fields are. */
  readonly value?: Value | undefined
  readonly onChange: (value: Value) => void
  readonly disabled?: boolean
  readonly fullWidth?: boolean
  readonly className?: string | undefined
  readonly 'aria-label'?: string
  readonly 'aria-labelledby'?: string
  readonly onFocus?: FocusEventHandler
  readonly onBlur?: FocusEventHandler
}

/**
 * A choice of one of a few, side by side. The library's one measures its parts after each rendering: 40 of the overview's first
 * 284 ms of script were in the function that measures.
 */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { data, value, onChange, disabled = false, fullWidth = false, className, onFocus, onBlur } = props
  const name = useId()
  return (
    <div
      role="radiogroup"
      className={classes(styles.segments, className)}
      data-full-width={fullWidth || undefined}
      aria-label={props['aria-label']}
      aria-labelledby={props['aria-labelledby']}
      onFocus={onFocus}
      onBlur={onBlur}
    >
      {data.map((each) => (
        <label key={each.value} className={styles.segment}>
          <input
            type="radio"
            name={name}
            value={each.value}
            checked={each.value === value}
            disabled={disabled}
            onChange={() => onChange(each.value)}
          />
          <span>{each.label}</span>
        </label>
      ))}
    </div>
  )
}
