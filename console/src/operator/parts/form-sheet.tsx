import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Sheet } from '../../parts/forms/dialog.tsx'
import form from '../../parts/forms/form.module.css'
import { FormProblem } from '../../parts/page/problem.tsx'

interface FormSheetProps {
  readonly title: string
  /** The verb on the button; “Save” when absent. */
  readonly action?: string
  /** As `useSubmit` gives them. */
  readonly sending: {
    readonly submit: (event?: FormEvent<HTMLFormElement>) => void
    readonly isPending: boolean
    readonly problem: string | undefined
  }
  readonly onClose: () => void
  readonly children: ReactNode
  /** What has nothing to do with saving: below the buttons. */
  readonly below?: ReactNode
}

/** A form beside the page: its fields, what went wrong with it, its buttons. */
export function FormSheet({ title, action, sending, onClose, children, below }: FormSheetProps) {
  const { t } = useTranslation()
  return (
    <Sheet title={title} onClose={onClose}>
      <form noValidate className={form.stack} onSubmit={sending.submit}>
        {children}
        <FormProblem text={sending.problem} />
        <div className={form.foot}>
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={sending.isPending}>
            {action ?? t('save')}
          </Button>
        </div>
      </form>
      {below}
    </Sheet>
  )
}
