import type { ReactNode } from 'react'
import { Sheet } from '../../parts/forms/dialog.tsx'
import { FormFrame, type Sending } from '../../parts/forms/form-frame.tsx'

interface FormSheetProps {
  readonly title: string
  /** The verb on the button; “Save” when absent. */
  readonly action?: string
  readonly sending: Sending
  readonly onClose: () => void
  readonly children: ReactNode
  /** Shown below the buttons; not part of the form. */
  readonly below?: ReactNode
}

/** A form in a sheet: fields, error and buttons. */
export function FormSheet({ title, action, sending, onClose, children, below }: FormSheetProps) {
  return (
    <Sheet title={title} onClose={onClose}>
      <FormFrame sending={sending} action={action} onClose={onClose}>
        {children}
      </FormFrame>
      {below}
    </Sheet>
  )
}
