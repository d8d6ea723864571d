import { describe, expect, it } from 'vitest'
import { childText, parseXml } from './xml.ts'

describe('an XML document of S3', () => {
  it('is elements with their text and children, attributes passed over', () => {
    const root = parseXml(
      '<?xml version="1.0" encoding="UTF-8"?>\n<A xmlns="http://s3.example/" x=\'1\'><B>one</B><C/><D >two<E>3</E></D></A>\n',
    )
    expect(root).toEqual({
      name: 'A',
      text: '',
      children: [
        { name: 'B', text: 'one', children: [] },
        { name: 'C', text: '', children: [] },
        { name: 'D', text: 'two', children: [{ name: 'E', text: '3', children: [] }] },
      ],
    })
    expect(childText(root, 'B')).toBe('one')
    expect(childText(root, 'C')).toBe('')
    expect(childText(root, 'E')).toBeNull()
  })

  it.each([
    ['&lt;&gt;&amp;&quot;&apos;', '<>&"\''],
    ['a&#x1F600;b&#233;', 'a\u{1f600}bé'],
    ['&amp;amp;', '&amp;'],
  ])('spells %s as characters', (spelled, text) => {
    expect(parseXml(`<A>${spelled}</A>`).text).toBe(text)
  })

  it.each([
    [''],
    ['text'],
    ['<A>'],
    ['<A></B>'],
    ['</A>'],
    ['<A/><B/>'],
    ['<A></A>after'],
    ['<A><B></A></B>'],
    ['<A>&nbsp;</A>'],
    ['<A>a & b</A>'],
    ['<A>&#x110000;</A>'],
    ['<A>&lt</A>'],
    ['<A><!-- c --></A>'],
    ['<A><![CDATA[x]]></A>'],
    ['<!DOCTYPE A [<!ENTITY x "y">]><A>&x;</A>'],
    ['<s3:A></s3:A>'],
    ['<A b></A>'],
    ['<html><br></html>'],
  ])('is refused as %j', (document) => {
    expect(() => parseXml(document)).toThrow(SyntaxError)
  })
})
