# SPDX-License-Identifier: Apache-2.0
# CocoaPods: the Objective-C module, under the name and with the subspecs that Podfiles already use:
#     pod 'TensorFlowLiteObjC', :path => 'halite/bindings/objc', :subspecs => ['Metal', 'CoreML']
# The C libraries come from the pod TensorFlowLiteC (bindings/swift).
Pod::Spec.new do |s|
  s.name = 'TensorFlowLiteObjC'
  s.version = '0.1.0'
  s.summary = 'TensorFlow Lite models in Objective-C, run by Halite'
  s.description = <<-TEXT
    The module TFLTensorFlowLite: interpreters, tensors and signatures of TensorFlow Lite models, with delegates for
    GPUs and Core ML as subspecs. Halite, a library in C, runs the models.
  TEXT
  s.homepage = 'https://halite.example' # whoever publishes it puts the place of its repository here
  s.license = { :type => 'Apache-2.0', :file => '../../LICENSE' }
  s.authors = 'The Halite authors'
  s.source = { :git => "#{s.homepage}.git", :tag => "v#{s.version}" }

  s.module_name = 'TFLTensorFlowLite'
  s.ios.deployment_target = '12.0'
  s.osx.deployment_target = '10.15'
  s.static_framework = true
  s.requires_arc = true
  s.default_subspec = 'Core'

  objc = 'tensorflow/lite/objc/'
  delegates = %w[Metal CoreML]
  s.pod_target_xcconfig = {
    'HEADER_SEARCH_PATHS' => '"${PODS_TARGET_SRCROOT}" "${PODS_TARGET_SRCROOT}/../../include"',
    'GCC_PREPROCESSOR_DEFINITIONS' => '$(inherited) HALITE_OBJC_GPU=1' # in the subspec Metal its library is there
  }

  s.subspec 'Core' do |core|
    core.dependency 'TensorFlowLiteC', s.version.to_s
    core.public_header_files = "#{objc}apis/*.h"
    core.source_files = "#{objc}{apis,sources}/*.{h,m}"
    core.exclude_files = delegates.map { |name| "#{objc}{apis,sources}/TFL#{name}Delegate.{h,m}" }
  end

  delegates.each do |name|
    s.subspec name do |delegate|
      delegate.dependency 'TensorFlowLiteObjC/Core', s.version.to_s
      delegate.dependency "TensorFlowLiteC/#{name}", s.version.to_s
      delegate.public_header_files = "#{objc}apis/TFL#{name}Delegate.h"
      delegate.source_files = "#{objc}{apis,sources}/TFL#{name}Delegate.{h,m}"
    end
  end
end
