import { Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Key, type NewKey, rotateKey } from '../api/keys.ts'
import { useOrganisationId } from '../api/session.ts'
import { Dialog } from '../parts/forms/dialog.tsx'
import form from '../parts/forms/form.module.css'
import { Marked } from '../parts/marks/marked.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import { useFormat } from '../parts/values/format.ts'

interface RotateDialogProps {
  readonly of: Key
  readonly onClose: () => void
  readonly onRotated: (made: NewKey) => void
}

/** Seconds for which the former secret works on; 0: it ends at once. */
const OVERLAPS = [0, 3_600, 86_400, 7 * 86_400, 30 * 86_400] as const
const DEFAULT_OVERLAP = 86_400

/** Another secret for the same key, and how long the present one still works. */
export function RotateDialog({ of, onClose, onRotated }: RotateDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const organisation = useOrganisationId()
  const [overlap, setOverlap] = useState(DEFAULT_OVERLAP)
  const rotate = useMutation({
    mutationFn: () => rotateKey(of.id, overlap, organisation),
    onSuccess: onRotated,
  })
  return (
    <Dialog onClose={onClose} title={t('keys.rotateTitle')}>
      <div className={form.stack}>
        <p className={form.words}>
          <Marked text={t('keys.rotateText', { name: of.name })} />
        </p>
        <Select
          label={t('keys.overlap')}
          description={t('keys.overlapHint')}
          value={String(overlap)}
          onChange={(value) => setOverlap(Number(value))}
          data={OVERLAPS.map((seconds) => ({
            value: String(seconds),
            label: seconds === 0 ? t('keys.overlapNone') : format.period(seconds),
          }))}
        />
        <FormProblem text={rotate.error === null ? undefined : problemText(rotate.error)} />
        <div className={form.foot}>
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
            {t('keys.rotate')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
