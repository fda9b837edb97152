// Reads the files of a JSON list with bpmn-moddle and prints what it warns of.
import { readFileSync, writeSync } from 'node:fs';
import { BpmnModdle } from 'bpmn-moddle';

const files = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// Text as a browser would decode it.
function text(bytes) {
  const head = bytes.subarray(0, 256).toString('latin1');
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le'
    : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be'
    : bytes[0] === 0x3c && bytes[1] === 0 ? 'utf-16le'
    : bytes[0] === 0 && bytes[1] === 0x3c ? 'utf-16be' : null;
  const declared = /^<\?xml[^>]*encoding\s*=\s*["']([^"']+)["']/.exec(head)?.[1];
  const label = wide ?? (/utf-?16/i.test(declared ?? '') ? 'utf-8' : declared ?? 'utf-8');
  return new TextDecoder(label).decode(bytes);
}

// Positions differ between a source and its export, and so does where stray text is cut.
function plain(message) {
  if (message.startsWith('unparsable content')) return 'unparsable content';
  return message.replace(/\s*line: \d+\s*/g, ' ').replace(/\s*column: \d+\s*/g, ' ').replace(/\s+/g, ' ').trim();
}

const found = [];
for (const file of files) {
  let warnings;
  try {
    const result = await new BpmnModdle().fromXML(text(readFileSync(file)));
    warnings = result.warnings.map((warning) => plain(warning.message.split('\n')[0]));
  } catch (error) {
    warnings = [`unreadable: ${plain(error.message.split('\n')[0])}`, ...(error.warnings ?? []).map((w) => plain(w.message.split('\n')[0]))];
  }
  found.push({ file, warnings });
}
const answer = Buffer.from(JSON.stringify(found));
for (let at = 0; at < answer.length;) {
  at += writeSync(1, answer, at);
}
