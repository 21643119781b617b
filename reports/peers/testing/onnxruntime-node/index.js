// Stands in for onnxruntime-node in the tests of this folder: runs a model on OpKit's oracles,
// with the op-run of OPKIT_BIN. Names of files choose faults: `refused` is an error, `foreign` a network that OpKit cannot import, `free` has a free extent,
// `differs` gives other values, from the fourth tensor on if every tensor is an output.
const {execFileSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

console.error('a warning that no log should show');

const opRun = (...words) => execFileSync(`${process.env.OPKIT_BIN}/op-run`, words, {stdio: ['ignore', 'ignore', 'inherit']});

class Tensor {
  constructor(type, data, dims) { Object.assign(this, {type, data, dims}); }
}

class InferenceSession {
  static async create(model, {optimizedModelFilePath, graphOptimizationLevel, profileFilePrefix} = {}) {
    if (optimizedModelFilePath) {
      const producer = Buffer.from(`optimiser:${graphOptimizationLevel}`);
      fs.writeFileSync(optimizedModelFilePath, Buffer.concat([fs.readFileSync(model), Buffer.from([0x12, producer.length]), producer]));
    }
    const session = new InferenceSession(model);
    session.profile = profileFilePrefix;
    return session;
  }

  /** Two nodes of 2 and 3 us in runs of 8 us; the warm runs took longer. */
  endProfiling() {
    const event = (run, k) =>
        ({cat: 'Node', name: `in_${k}_kernel_time`, dur: run < 3 ? 900 : 2 + k, args: {op_name: 'Stand'}});
    const whole = (run) => ({cat: 'Session', name: 'model_run', dur: run < 3 ? 1900 : 8});
    const events = Array.from({length: 13}, (_, run) => [event(run, 0), event(run, 1), whole(run)]).flat();
    fs.writeFileSync(`${this.profile}_1.json`, JSON.stringify([{cat: 'Session', name: 'session'}, ...events]));
  }

  constructor(model) {
    if (model.includes('refused')) throw new Error('this network is refused\nwith a second line');
    this.model = model;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'session-'));
    this.release = () => fs.rmSync(this.folder, {recursive: true, force: true});
    process.setMaxListeners(0).on('exit', this.release);
    if (model.includes('foreign')) {
      this.inputMetadata = [];
      this.outputNames = ['y'];
    } else {
      opRun(model, '--backend', 'null', '--json', `${this.folder}/facts.json`);
      const {inputs, outputs} = JSON.parse(fs.readFileSync(`${this.folder}/facts.json`)).steps[0];
      this.inputMetadata = inputs.map((text) => {
        const [, name, type, shape] = /^(.*) (f32|i64)\[([0-9,]*)\]$/.exec(text);
        return {name, type: type === 'f32' ? 'float32' : 'int64', shape: model.includes('free') ? ['batch', 3] : shape.split(',').map(Number)};
      });
      this.outputNames = outputs.map(({name}) => name);
    }
    this.inputNames = this.inputMetadata.map(({name}) => name);
  }

  async run(feeds) {
    if (this.model.includes('foreign')) return {y: new Tensor('float32', Float32Array.of(1), [1])};
    const {readNpy, writeNpy} = await import(`${process.env.OPKIT_PEERS}/onnx_bytes.mjs`);
    const words = [this.model, '--backend', 'reference', '--output', this.folder];
    for (const [name, tensor] of Object.entries(feeds)) {
      const file = `${this.folder}/input_${words.length}.npy`;
      writeNpy(file, tensor);
      words.push('--input', `${name}=${file}`);
    }
    opRun(...words);
    return Object.fromEntries(this.outputNames.map((name, k) => {
      const {type, dims, data} = readNpy(`${this.folder}/${name.replace(/[/\\:]/g, '_')}.npy`);
      const late = this.outputNames.length === 1 || k >= 3;
      if (this.model.includes('differs') && late && type === 'float32') data[0] += 1;
      return [name, new Tensor(type, data, dims)];
    }));
  }
}

module.exports = {InferenceSession, Tensor, env: {}};
