import { Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Dialog } from '../forms/dialog.tsx'
import form from '../forms/form.module.css'
import { Marked } from '../marks/marked.tsx'
import { FormProblem } from '../page/problem.tsx'
import { useProblemText } from '../page/use-problem.ts'
import { useFormat } from '../values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface RotateDialogProps<Made> {
  readonly of: { readonly name: string }
  /** `overlap`: seconds for which the former secret keeps working. */
  readonly rotate: (overlap: number) => Promise<Made>
  readonly onClose: () => void
  readonly onRotated: (made: Made) => void
}

/** Seconds for which the former secret keeps working; 0: it ends at once. */
const OVERLAPS = [0, 3_600, 86_400, 7 * 86_400, 30 * 86_400] as const
const DEFAULT_OVERLAP = 86_400

/** Replaces the secret of a key, and asks how long the former one keeps working. */
export function RotateDialog<Made>({ of, rotate, onClose, onRotated }: RotateDialogProps<Made>) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const [overlap, setOverlap] = useState(DEFAULT_OVERLAP)
  const rotating = useMutation({ mutationFn: () => rotate(overlap), onSuccess: onRotated })
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
        <FormProblem text={rotating.error === null ? undefined : problemText(rotating.error)} />
        <div className={form.foot}>
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button loading={rotating.isPending} onClick={() => rotating.mutate()}>
            {t('keys.rotate')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
