// SPDX-License-Identifier: Apache-2.0
// overhead MODEL [ROUNDS]: how much longer an invocation from Swift takes than the C call, in one process: rounds of both
// in turn, the median of the rounds' times for each call. Prints "model, C, Swift, difference" in nanoseconds.

import Dispatch
import TensorFlowLite
import TensorFlowLiteC

let callsInRound = 2000

/// Nanoseconds for a call, over one round.
func time(_ call: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<callsInRound { try call() }
    return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(callsInRound)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

guard CommandLine.arguments.count > 1 else { fatalError("usage: overhead MODEL [ROUNDS]") }
let path = CommandLine.arguments[1]
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 101 : 101

let interpreter = try Interpreter(modelPath: path)
try interpreter.allocateTensors()
guard let model = TfLiteModelCreateFromFile(path), let plain = TfLiteInterpreterCreate(model, nil),
    TfLiteInterpreterAllocateTensors(plain) == kTfLiteOk
else { fatalError("no interpreter for \(path)") }

var inC: [Double] = []
var inSwift: [Double] = []
for round in 0..<rounds + 3 {
    let c = time { precondition(TfLiteInterpreterInvoke(plain) == kTfLiteOk) }
    let swift = try time { try interpreter.invoke() }
    if round < 3 { continue }  // while caches and clocks settle
    inC.append(c)
    inSwift.append(swift)
}
let differences = zip(inSwift, inC).map { $0 - $1 }
print("\(path), C \(Int(median(inC))) ns, Swift \(Int(median(inSwift))) ns, difference \(Int(median(differences))) ns")
TfLiteInterpreterDelete(plain)
TfLiteModelDelete(model)
